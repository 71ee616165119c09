/** A regular expression (RE2) for the header `cookie` of requests that have a cookie of this name and value. */
export function cookiePattern(name: string, value: string): string {
  return `(?:.*;)?\\s*${literal(name)}=${literal(value)}\\s*(?:;.*)?`
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
