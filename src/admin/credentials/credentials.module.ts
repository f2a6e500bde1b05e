import { Module } from '@nestjs/common';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { CredentialsService } from './credentials.service.js';

/** Common to virtual keys and integrations: a credential that is sealed for one destination. */
@Module({ imports: [CryptoModule], providers: [CredentialsService], exports: [CredentialsService] })
export class CredentialsModule {}
