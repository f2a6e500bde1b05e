/**
 * Invisible characters that change the visible text: direction controls and control characters.
 * https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters, https://trojansource.codes/
 */
const INVISIBLE = /[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

const HEX = 16;
const DIGITS = 4;

/** The text with such characters as their code points, so that it shows what is stored. */
export const visibleText = (text: string): string =>
  text.replace(
    INVISIBLE,
    (character) => `⟨U+${character.charCodeAt(0).toString(HEX).toUpperCase().padStart(DIGITS, '0')}⟩`,
  );
