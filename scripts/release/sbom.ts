/** A software bill of materials in the format CycloneDX 1.6. The same input gives the same document. */

import { createHash } from 'node:crypto'

export interface LockedPackage {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

/** A Debian package of an image. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
  readonly architecture: string
}

export interface Bill {
  readonly name: string
  readonly version: string
  readonly license: string
  /** ISO 8601, of the commit, so that the document does not depend on the time of the build. */
  readonly timestamp: string
  readonly lock: Lock
  /** Debian packages by the image that has them. */
  readonly images: Readonly<Record<string, readonly DebianPackage[]>>
}

interface Component {
  readonly type: 'library'
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
}

export function sbomOf(bill: Bill): object {
  const { name, version, license, timestamp } = bill
  const components = [...npmComponents(bill.lock), ...debianComponents(bill.images)]
  const content = JSON.stringify([name, version, timestamp, components])
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(content)}`,
    version: 1,
    metadata: {
      timestamp,
      component: { type: 'application', 'bom-ref': name, name, version, licenses: licensesOf(license) },
    },
    components,
  }
}

/** The production packages of the lock file, among them Node. */
function npmComponents({ packages }: Lock): Component[] {
  const components = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, locked]) =>
      npmComponent(path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), locked),
    )
  // The same version can be installed at several paths.
  return sorted(new Map(components.map((one) => [one.purl, one])).values())
}

function npmComponent(name: string, { version, integrity, license }: LockedPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
    ...(license !== undefined && { licenses: licensesOf(license) }),
  }
}

/** `sha512-BASE64` as CycloneDX writes it. */
function hashOf(integrity: string): object {
  const [algorithm = '', digest = ''] = integrity.split('-')
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }
}

/** An SPDX expression, or the identifier of one license. */
function licensesOf(license: string): object[] {
  return /\s/.test(license) ? [{ expression: license }] : [{ license: { id: license } }]
}

/** Each package once, with the images that have it. */
function debianComponents(images: Bill['images']): Component[] {
  const users = new Map<string, { readonly found: DebianPackage; readonly images: string[] }>()
  for (const [image, packages] of Object.entries(images)) {
    for (const found of packages) {
      const purl = `pkg:deb/debian/${found.name.replaceAll('+', '%2B')}@${encodeURIComponent(found.version)}?arch=${found.architecture}`
      const known = users.get(purl) ?? { found, images: [] }
      users.set(purl, { found, images: [...known.images, image] })
    }
  }
  const components = [...users].map(([purl, { found, images: names }]) => ({
    type: 'library' as const,
    'bom-ref': purl,
    name: found.name,
    version: found.version,
    purl,
    properties: names.map((value) => ({ name: 'ml-operator:image', value })),
  }))
  return sorted(components)
}

function sorted(components: Iterable<Component>): Component[] {
  return [...components].toSorted((one, other) => (one.purl < other.purl ? -1 : 1))
}

function uuidOf(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex')
  // Version 8: custom content. Variant 10.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The installed packages in the text of dpkg's status file. */
export function installedPackages(status: string): DebianPackage[] {
  return status
    .split(/\n\n+/)
    .map((entry) => new Map([...entry.matchAll(/^([\w-]+): (.*)$/gm)].map(([, key = '', value = '']) => [key, value])))
    .filter((fields) => fields.get('Status') === 'install ok installed')
    .map((fields) => ({
      name: fields.get('Package') ?? '',
      version: fields.get('Version') ?? '',
      architecture: fields.get('Architecture') ?? '',
    }))
}
