import { Module } from '@nestjs/common';
import { KeyRevocationService } from './key-revocation.service.js';

/** Apart from the other services of API keys, because what it offers is needed by rooms that those need themselves. */
@Module({ providers: [KeyRevocationService], exports: [KeyRevocationService] })
export class KeyRevocationModule {}
