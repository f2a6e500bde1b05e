/**
 * Names of the machine itself, its cloud's metadata service, or networks outside public DNS.
 *
 * Sources: RFC 6761 (localhost), RFC 6762 (local), RFC 8375 (home.arpa), and ICANN's reservation of `internal` for private use,
 * https://www.icann.org/en/board-activities-and-meetings/materials/approved-resolutions-special-meeting-of-the-icann-board-29-07-2024-en
 */
const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.internal',
  'metadata.tencentyun.com',
  'metadata.oraclecloud.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

const OWN_MACHINE: ReadonlySet<string> = new Set([
  'localhost',
  'localhost.localdomain',
  'localhost4',
  'localhost6',
  'ip6-localhost',
  'ip6-loopback',
  'broadcasthost',
  'host.docker.internal',
  'gateway.docker.internal',
  'kubernetes.docker.internal',
  'host.containers.internal',
]);

const PRIVATE_SUFFIXES = [
  '.localhost',
  '.localdomain',
  '.local',
  '.internal',
  '.intranet',
  '.private',
  '.corp',
  '.home',
  '.lan',
  '.home.arpa',
];

export function isMetadataName(name: string): boolean {
  return METADATA_NAMES.has(name);
}

export function isOwnMachine(name: string): boolean {
  return OWN_MACHINE.has(name) || name.endsWith('.localhost');
}

/** Whether a name can only exist inside a private network, whether or not it was found. */
export function isPrivateName(name: string): boolean {
  return !name.includes('.') || PRIVATE_SUFFIXES.some((suffix) => name.endsWith(suffix));
}
