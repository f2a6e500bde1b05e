import { type DynamicModule, Module } from '@nestjs/common';
import { AdaptersModule } from './adapters/adapters.module.js';
import { AdminModule } from './admin/admin.module.js';
import type { DataSource } from 'typeorm';
import { DatabaseModule } from './common/database/database.module.js';
import type { Settings } from './common/settings/settings.js';
import { SettingsModule } from './common/settings/settings.module.js';
import { GatewayModule } from './gateway/gateway.module.js';

/** A gateway process: both planes, and what stands behind their ports. */
@Module({})
export class AppModule {
  static of(settings: Settings, dataSource: DataSource): DynamicModule {
    return {
      module: AppModule,
      imports: [
        SettingsModule.of(settings),
        DatabaseModule.around(dataSource),
        AdaptersModule,
        GatewayModule,
        AdminModule,
      ],
    };
  }
}
