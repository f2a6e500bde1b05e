import { type DynamicModule, Module } from '@nestjs/common';
import type { Settings } from './settings.js';

/** Injects the settings of the process: `@Inject(SETTINGS) settings: Settings`. An interface has no class to use as a token. */
export const SETTINGS = Symbol('settings');

/** Provides settings that were read and validated before Nest started. Global: `SettingsModule.forRoot(loadSettings(...))` once, at the root. */
@Module({})
export class SettingsModule {
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: SettingsModule,
      global: true,
      providers: [{ provide: SETTINGS, useValue: settings }],
      exports: [SETTINGS],
    };
  }
}
