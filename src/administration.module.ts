import { type DynamicModule, Module } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { AdminAdaptersModule } from './adapters/admin-adapters.module.js';
import { AdminModule } from './admin/admin.module.js';
import { DatabaseModule } from './database/database.module.js';
import type { Settings } from './common/settings/settings.js';
import { SettingsModule } from './common/settings/settings.module.js';

/** The administration's process: the control plane and the adapters behind its ports. */
@Module({})
export class AdministrationModule {
  static register(settings: Settings, dataSource: DataSource): DynamicModule {
    return {
      module: AdministrationModule,
      imports: [
        SettingsModule.forRoot(settings),
        DatabaseModule.forRoot(dataSource),
        AdminAdaptersModule,
        AdminModule,
      ],
    };
  }
}
