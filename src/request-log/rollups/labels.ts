import { DIMENSION_CHARS_MAX } from './dimensions.js';

/**
 * The label of a value in rollups and groups: the value itself, or, of a longer one, its beginning, "…" and the start of its SHA-256. Labels
 * are bounded, because they are indexed and clients choose the values, and distinct values have distinct labels.
 */
const HASH_DIGITS = 16;
const BEGINNING = DIMENSION_CHARS_MAX - 1 - HASH_DIGITS;

const LABEL = new RegExp(`^.{${BEGINNING}}…[0-9a-f]{${HASH_DIGITS}}$`, 'su');

/** Whether a text can be the label of a longer value. */
export const isLabel = (text: string): boolean => LABEL.test(text);

/** In PostgreSQL; the label of a label is itself. SHA-256, because a server in FIPS mode refuses MD5. */
export const labelSql = (value: string): string =>
  `CASE WHEN length(${value}) <= ${DIMENSION_CHARS_MAX} THEN ${value}
    ELSE left(${value}, ${BEGINNING}) || '…' || left(encode(sha256(convert_to(${value}, 'UTF8')), 'hex'), ${HASH_DIGITS}) END`;

/** The same in ClickHouse. */
export const labelInClickHouse = (value: string): string =>
  `if(lengthUTF8(${value}) <= ${DIMENSION_CHARS_MAX}, ${value},
    concat(leftUTF8(${value}, ${BEGINNING}), '…', lower(left(hex(SHA256(${value})), ${HASH_DIGITS}))))`;
