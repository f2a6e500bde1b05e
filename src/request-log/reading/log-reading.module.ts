import { Module } from '@nestjs/common';
import { KeptLogs } from './kept-logs.js';
import { KeyNamesReader } from './key-names.js';
import { LogDatabase } from './log-database.js';
import { LogScope } from './log-scope.js';

/** Reads the request log and its rollups. Requires `SettingsModule` and `DatabaseModule`. */
@Module({
  providers: [KeptLogs, KeyNamesReader, LogDatabase, LogScope],
  exports: [KeptLogs, KeyNamesReader, LogDatabase, LogScope],
})
export class LogReadingModule {}
