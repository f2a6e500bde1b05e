import { Module } from '@nestjs/common';
import { KeptLogs } from './kept-logs.js';
import { LogDatabase } from './log-database.js';

/** Where the request log and its rollups are read. It needs `SettingsModule` and `DatabaseModule` beside it. */
@Module({ providers: [KeptLogs, LogDatabase], exports: [KeptLogs, LogDatabase] })
export class LogReadingModule {}
