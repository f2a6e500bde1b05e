import { type DynamicModule, Module } from '@nestjs/common';
import { GatewayAdaptersModule } from './adapters/gateway-adapters.module.js';
import { QueryPool } from './database/sessions/query-pool.js';
import type { Settings } from './common/settings/settings.js';
import { SettingsModule } from './common/settings/settings.module.js';
import { GatewayModule } from './gateway/gateway.module.js';

/** A gateway process: the data plane and the adapters behind its ports. */
@Module({})
export class AppModule {
  static register(settings: Settings, pool: QueryPool): DynamicModule {
    return {
      module: AppModule,
      global: true,
      imports: [SettingsModule.forRoot(settings), GatewayAdaptersModule, GatewayModule],
      providers: [{ provide: QueryPool, useValue: pool }],
      exports: [QueryPool],
    };
  }
}
