import { parameterError } from '../../common/errors/field-errors.js';
import { unsupportedParameter } from './refusing.js';

export interface Size {
  readonly width?: number;
  readonly height?: number;
}

/** `1024x768`, in pixels; empty if the model may choose. */
export function sizeOf(size: unknown): Size {
  if (size === undefined || size === null || size === 'auto') return {};
  const [, width, height] =
    /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(typeof size === 'string' ? size : '') ?? [];
  if (width === undefined) throw parameterError('size', 'must be auto or like 1024x1024');
  return { width: Number(width), height: Number(height) };
}

/** Ratios of width to height in Stability's models, which take no other size. */
const RATIOS: ReadonlySet<string> = new Set([
  '16:9',
  '1:1',
  '21:9',
  '2:3',
  '3:2',
  '4:5',
  '5:4',
  '9:16',
  '9:21',
]);

/** The ratio of a size for Stability's models; null if they may choose. */
export function stabilityRatio(size: unknown): string | null {
  const { width, height } = sizeOf(size);
  if (width === undefined || height === undefined) return null;
  const divisor = greatestDivisor(width, height);
  const ratio = `${width / divisor}:${height / divisor}`;
  if (!RATIOS.has(ratio))
    throw unsupportedParameter('size', `this model supports the aspect ratios ${[...RATIOS].join(', ')}`);
  return ratio;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
