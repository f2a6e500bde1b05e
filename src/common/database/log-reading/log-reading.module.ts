import { Module } from '@nestjs/common';
import { LogDatabase } from './log-database.js';

/** Where the request log and its rollups are read. It needs `DatabaseModule` beside it. */
@Module({ providers: [LogDatabase], exports: [LogDatabase] })
export class LogReadingModule {}
