const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Encodes big-endian bytes as a number in digits, capitals and small letters, left-padded with zeros to `width`. */
export function bytesToBase62(bytes: Buffer, width: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(width, '0');
}

/** The same for an integer below 2^53, without the slower BigInt: checksums are verified per request. */
export function numberToBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = DIGITS.charAt(rest % 62) + text;
  return text.padStart(width, '0');
}
