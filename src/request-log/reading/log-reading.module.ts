import { Module } from '@nestjs/common';
import { KeptLogs } from './kept-logs.js';
import { LogDatabase } from './log-database.js';

/** Reads the request log and its rollups. Requires `SettingsModule` and `DatabaseModule`. */
@Module({ providers: [KeptLogs, LogDatabase], exports: [KeptLogs, LogDatabase] })
export class LogReadingModule {}
