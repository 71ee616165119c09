import { inflateRawSync } from 'node:zlib'

const ENTRY = 0x02014b50
const END = 0x06054b50

/** Extracts one file from a zip archive. Archives of more than four gigabytes, or with a comment, are not supported. */
export function unzipped(archive: Buffer, name: string): Buffer {
  const end = archive.length - 22
  if (archive.readUInt32LE(end) !== END) throw new Error('not a zip archive, or one with a comment')
  let at = archive.readUInt32LE(end + 16)
  while (archive.readUInt32LE(at) === ENTRY) {
    const nameLength = archive.readUInt16LE(at + 28)
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return content(archive, at)
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  throw new Error(`the archive has no ${name}`)
}

function content(archive: Buffer, entry: number): Buffer {
  const size = archive.readUInt32LE(entry + 20)
  const header = archive.readUInt32LE(entry + 42)
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  const bytes = archive.subarray(start, start + size)
  return archive.readUInt16LE(entry + 10) === 0 ? bytes : inflateRawSync(bytes)
}
