import { Global, Module } from '@nestjs/common';
import { DeviceCookie, SessionCookie, SignOnCookie } from '../../common/http/session-cookie.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { AuthModule } from '../auth.module.js';
import { AuthGuard } from './auth.guard.js';
import { ApiKeyStrategy } from './api-key.strategy.js';
import { SignedTokenStrategy } from './signed-token.strategy.js';
import { SessionStrategy } from './session.strategy.js';

/** Identification of the administration's callers. Gateway processes do not load it. */
@Global()
@Module({
  imports: [AuthModule],
  providers: [
    ApiKeyStrategy,
    SignedTokenStrategy,
    SessionStrategy,
    AuthGuard,
    {
      provide: SessionCookie,
      inject: [SETTINGS],
      useFactory: ({ publicUrl }: Settings) => new SessionCookie(publicUrl?.startsWith('https:') ?? false),
    },
    {
      provide: DeviceCookie,
      inject: [SETTINGS],
      useFactory: ({ publicUrl }: Settings) => new DeviceCookie(publicUrl?.startsWith('https:') ?? false),
    },
    {
      provide: SignOnCookie,
      inject: [SETTINGS],
      useFactory: ({ publicUrl }: Settings) => new SignOnCookie(publicUrl?.startsWith('https:') ?? false),
    },
  ],
  exports: [
    ApiKeyStrategy,
    SignedTokenStrategy,
    SessionStrategy,
    AuthGuard,
    DeviceCookie,
    SessionCookie,
    SignOnCookie,
  ],
})
export class StrategiesModule {}
