import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { ObjectStore } from './object-store.js';

/** The bucket, or null when none is configured. Requires `SettingsModule`. */
@Module({
  providers: [
    {
      provide: ObjectStore,
      inject: [SETTINGS],
      useFactory: (settings: Settings) => (settings.s3 ? new ObjectStore(settings.s3, settings) : null),
    },
  ],
  exports: [ObjectStore],
})
export class ObjectStoreModule implements OnApplicationShutdown {
  constructor(@Inject(ObjectStore) private readonly store: ObjectStore | null) {}

  async onApplicationShutdown(): Promise<void> {
    await this.store?.close();
  }
}
