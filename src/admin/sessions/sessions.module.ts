import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { Session } from './session.entity.js';
import { SessionsService } from './sessions.service.js';

@Module({
  imports: [AuthModule, CryptoModule, TransactionRepositories.forFeature(Session)],
  providers: [SessionsService],
  exports: [SessionsService],
})
export class SessionsModule {}
