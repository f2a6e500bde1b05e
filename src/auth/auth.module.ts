import { Module } from '@nestjs/common';
import { IdentityService } from './identity/identity.service.js';

/** Authentication. Needs the `ApiKeyDirectory` and `ClientAddresses` that the adapters provide globally. */
@Module({ providers: [IdentityService], exports: [IdentityService] })
export class AuthModule {}
