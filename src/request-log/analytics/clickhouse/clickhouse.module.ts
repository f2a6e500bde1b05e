import { Module } from '@nestjs/common';
import { SETTINGS } from '../../../common/settings/settings.module.js';
import type { Settings } from '../../../common/settings/settings.js';
import { ClickHouse } from './clickhouse.js';

/** Injects this process's `ClickHouse`; null when none is configured. */
export const CLICKHOUSE = Symbol('clickhouse');

type ClickhouseModuleSettings = Pick<Settings, 'clickhouse' | 'retentionDays'>;

const provider = {
  provide: CLICKHOUSE,
  inject: [SETTINGS],
  useFactory: ({ clickhouse, retentionDays }: ClickhouseModuleSettings) =>
    clickhouse ? ClickHouse.connect(clickhouse, retentionDays) : null,
};

@Module({ providers: [provider], exports: [provider] })
export class ClickHouseModule {}
