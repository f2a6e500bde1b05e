import { Module } from '@nestjs/common';
import { KeyRevocationService } from './key-revocation.service.js';

/** Separate from the other services of API keys, because modules that those depend on need it. */
@Module({ providers: [KeyRevocationService], exports: [KeyRevocationService] })
export class KeyRevocationModule {}
