package v1beta1

// QueueAllocationGateKey is in volcano.sh/apis of v1.15.0, which module proxies may not have. The rest of that module is
// taken from the version before.
const QueueAllocationGateKey = GroupName + "/queue-allocation-gate"
