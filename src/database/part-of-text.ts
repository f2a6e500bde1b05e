import { type FindOperator, ILike } from 'typeorm';

/** Matches texts that contain `text`, case-insensitive. Its wildcards stand for themselves. */
export const partOfText = (text: string): FindOperator<string> =>
  ILike(`%${text.replace(/[\\%_]/g, '\\$&')}%`);
