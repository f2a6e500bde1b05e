/** Ids of elements: https://www.rfc-editor.org/rfc/rfc9559#section-5.1 */
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const TIMESTAMP_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const CLUSTER = Buffer.from([0x1f, 0x43, 0xb6, 0x75]);
const TIMESTAMP = 0xe7;
const NANO_PER_MS = 1_000_000;
/** A block's offset from the beginning of its cluster has 16 bits. */
const CLUSTER_TICKS_MAX = 32_767;

interface MatroskaElement {
  readonly id: number;
  readonly from: number;
  /** Past the end of the file if the size is unknown. */
  readonly to: number;
}

/**
 * WebM and Matroska have their duration in the head. Recordings of browsers do not; there, the last cluster counts, which lasts at most 33
 * seconds. The later of the two is used.
 */
export function matroskaMs(bytes: Buffer): number | null {
  const segment = find(bytes, { id: 0, from: 0, to: bytes.length }, SEGMENT);
  if (!segment) return null;
  const info = find(bytes, segment, INFO);
  const scale = info && find(bytes, info, TIMESTAMP_SCALE);
  const msPerTick = (scale ? unsigned(bytes, scale) : NANO_PER_MS) / NANO_PER_MS;
  const durationElement = info && find(bytes, info, DURATION);
  const duration = durationElement ? float(bytes, durationElement) : 0;
  return Math.max(duration, lastCluster(bytes, duration === 0)) * msPerTick;
}

/** When the last cluster begins or, if nothing else marks the end, when its last block may begin. */
function lastCluster(bytes: Buffer, isEnd: boolean): number {
  const at = bytes.lastIndexOf(CLUSTER);
  const cluster = at < 0 ? null : elementAt(bytes, at);
  const timestamp = cluster && find(bytes, cluster, TIMESTAMP);
  return timestamp ? unsigned(bytes, timestamp) + (isEnd ? CLUSTER_TICKS_MAX : 0) : 0;
}

function find(bytes: Buffer, { from, to }: MatroskaElement, id: number): MatroskaElement | null {
  for (let at = from; at < Math.min(to, bytes.length);) {
    const element = elementAt(bytes, at);
    if (element.id === id) return element;
    at = element.to;
  }
  return null;
}

/** The number of leading zeros gives the length of ids and sizes. https://www.rfc-editor.org/rfc/rfc8794#section-4 */
function elementAt(bytes: Buffer, at: number): MatroskaElement {
  const idBytes = Math.clz32(bytes.readUInt8(at)) - 23;
  const sizeAt = at + idBytes;
  const sizeBytes = Math.clz32(bytes.readUInt8(sizeAt)) - 23;
  const from = sizeAt + sizeBytes;
  return {
    id: bytes.readUIntBE(at, Math.min(idBytes, 6)),
    from,
    to: from + sizeOf(bytes, sizeAt, sizeBytes),
  };
}

function sizeOf(bytes: Buffer, at: number, length: number): number {
  let size = bytes.readUInt8(at) & (0xff >> length);
  let isUnknown = size === 0xff >> length;
  for (let next = 1; next < length; next++) {
    const byte = bytes.readUInt8(at + next);
    isUnknown &&= byte === 0xff;
    size = size * 256 + byte;
  }
  return isUnknown ? Number.MAX_SAFE_INTEGER / 2 : size;
}

const unsigned = (bytes: Buffer, { from, to }: MatroskaElement): number =>
  to > from ? bytes.readUIntBE(from, Math.min(to - from, 6)) : 0;

const float = (bytes: Buffer, { from, to }: MatroskaElement): number =>
  to - from === 8 ? bytes.readDoubleBE(from) : bytes.readFloatBE(from);
