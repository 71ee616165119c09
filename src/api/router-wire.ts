/** Names and formats that the HAProxy configuration and the agent next to it share. */

/** Backend with one server per version. A server has the name of its version. */
export const ROUTER_BACKEND = 'versions'

/** Placeholder server for requests that wait while there is no version. Not a valid version name. */
export const ROUTER_NOBODY = '-nobody'

/** HAProxy log format, one line per request: server, status, duration in milliseconds, termination state (`--`: normal). */
export const REQUEST_LOG_FORMAT = '%s %ST %Ta %ts'

/** Port on loopback where the agent receives the log. */
export const REQUEST_LOG_PORT = 8514
