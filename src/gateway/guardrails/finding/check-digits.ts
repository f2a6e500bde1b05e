/** Checksums that distinguish real numbers from other digits. */

const ZERO = 48;

/**
 * The Luhn checksum of payment cards, ISO/IEC 7812-1 annex B: https://en.wikipedia.org/wiki/Luhn_algorithm. `digits` contains only digits.
 */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - ZERO;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** ISO 13616 with the checksum of ISO/IEC 7064, mod 97-10. `iban` has no spaces. */
export function isIban(iban: string): boolean {
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    if (Number.isNaN(value)) return false;
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** Spain's DNI and NIE: eight digits, or X, Y or Z and seven digits, and a check letter. */
export function isDni(text: string): boolean {
  const number = Number(text.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter))));
  return DNI_LETTERS.charAt(number % 23) === text.slice(-1);
}

/** Brazil's CPF: nine digits and two check digits. */
export function isCpf(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  const follows = (count: number): boolean => {
    let sum = 0;
    for (let index = 0; index < count; index++) sum += Number(digits[index]) * (count + 1 - index);
    return ((sum * 10) % 11) % 10 === Number(digits[count]);
  };
  return digits.length === 11 && !/^(\d)\1*$/.test(digits) && follows(9) && follows(10);
}

/** France's social security number: thirteen digits and their complement to a multiple of 97. */
export function isNir(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  return 97 - (Number(digits.slice(0, 13)) % 97) === Number(digits.slice(13));
}
