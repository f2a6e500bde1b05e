import { Global, Module } from '@nestjs/common';
import { DeviceCookie, SessionCookie, SignOnCookie } from '../../common/http/session-cookie.js';
import { isServedOverHttps } from '../../common/settings/base-url.js';
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
      useFactory: (settings: Settings) => new SessionCookie(isServedOverHttps(settings)),
    },
    {
      provide: DeviceCookie,
      inject: [SETTINGS],
      useFactory: (settings: Settings) => new DeviceCookie(isServedOverHttps(settings)),
    },
    {
      provide: SignOnCookie,
      inject: [SETTINGS],
      useFactory: (settings: Settings) => new SignOnCookie(isServedOverHttps(settings)),
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
