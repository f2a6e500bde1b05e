import { Module } from '@nestjs/common';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { CredentialsService } from './credentials.service.js';

/** What virtual keys and integrations have in common: a credential that is sealed for one place. */
@Module({ imports: [CryptoModule], providers: [CredentialsService], exports: [CredentialsService] })
export class CredentialsModule {}
