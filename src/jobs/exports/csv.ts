/** What a spreadsheet takes for the beginning of a formula, the last four as East Asian keyboards write the first ones. */
const FORMULA = new Set(['=', '+', '-', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20']);

/**
 * A record of CSV with its end. What a spreadsheet would take for a formula gets an apostrophe before it, and every cell that is not
 * empty is quoted, so that nothing a client wrote can begin a cell of its own:
 * https://owasp.org/www-community/attacks/CSV_Injection and https://www.rfc-editor.org/rfc/rfc4180
 *
 * Written by hand because a general writer asks of each cell again how it is to be written, which took most of the time of making the text.
 */
export function csvRecord(cells: readonly string[]): string {
  // A line with nothing on it is no record: readers pass over it.
  if (cells.length === 1 && cells[0] === '') return '""\r\n';
  let record = '';
  let comma = '';
  for (const cell of cells) {
    record += comma + csvCell(cell);
    comma = ',';
  }
  return `${record}\r\n`;
}

function csvCell(text: string): string {
  if (text === '') return '';
  const safe = text.includes('"') ? text.replaceAll('"', '""') : text;
  return FORMULA.has(text.charAt(0)) ? `"'${safe}"` : `"${safe}"`;
}
