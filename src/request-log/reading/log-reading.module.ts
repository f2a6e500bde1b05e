import { Module } from '@nestjs/common';
import { KeptLogs } from './kept-logs.js';
import { LogDatabase } from './log-database.js';
import { LogScope } from './log-scope.js';

/** Reads the request log and its rollups. Requires `SettingsModule` and `DatabaseModule`. */
@Module({ providers: [KeptLogs, LogDatabase, LogScope], exports: [KeptLogs, LogDatabase, LogScope] })
export class LogReadingModule {}
