/** What HAProxy's configuration and the agent beside it must agree on. */

/** The backend whose servers are the versions, named like them. */
export const ROUTER_BACKEND = 'versions'

/** The server in it that is none: where requests wait while there is no version. No version can be named like it. */
export const ROUTER_NOBODY = '-nobody'

/**
 * One line for each request that has ended, in HAProxy's words: who answered, with what status, after how many
 * milliseconds, and whose doing the end was (`--` if nobody's).
 */
export const REQUEST_LOG_FORMAT = '%s %ST %Ta %ts'

/** Where the agent takes these lines, on loopback. */
export const REQUEST_LOG_PORT = 8514
