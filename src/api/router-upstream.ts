/** Settings of every cluster of the router's Envoy: those of its configuration, and those that the agent adds. */

const UNLIMITED = 10_000

export const upstream = {
  connect_timeout: '0.5s',
  lb_policy: 'ROUND_ROBIN',
  circuit_breakers: {
    thresholds: [
      {
        max_connections: UNLIMITED,
        max_pending_requests: UNLIMITED,
        max_requests: UNLIMITED,
        max_retries: UNLIMITED,
      },
    ],
  },
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      // A connection for each request; and HTTP/2, as gRPC needs it, for clients that use it.
      common_http_protocol_options: { max_requests_per_connection: 1 },
      use_downstream_protocol_config: {},
    },
  },
} as const
