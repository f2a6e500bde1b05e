import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { AuditChain } from './audit-chain.js';
import { AuditSeal } from './audit-seal.js';
import { auditSealKey, KNOWN_SEAL_KEY, type KnownSealKey } from './audit-seal-key.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { AuditTrail } from './audit-trail.service.js';
import { AuditedTransactions } from './audited-transactions.service.js';
import { ChainVerification } from './chain-verification.service.js';
import { RefusalRecordingFilter } from './refusal-recording.filter.js';
import { AuditRecord } from './audit-record.entity.js';

/** The audit trail, for every administrative controller and every service behind one. */
@Global()
@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(AuditRecord)],
  providers: [
    AuditChain,
    AuditTrail,
    AuditedTransactions,
    AuditInterceptor,
    RefusalRecordingFilter,
    ChainVerification,
    { provide: AuditSeal, inject: [SETTINGS, DataSource], useFactory: sealOf },
  ],
  exports: [AuditTrail, AuditedTransactions, AuditInterceptor, RefusalRecordingFilter, ChainVerification],
})
export class AuditModule {}

async function sealOf({ masterKey, nextMasterKey }: Settings, database: DataSource): Promise<AuditSeal> {
  if (!masterKey) throw new Error('GATEHOUSE_MASTER_KEY is missing.');
  const [known] = await database.query<KnownSealKey[]>(KNOWN_SEAL_KEY);
  return new AuditSeal(auditSealKey(known, nextMasterKey ? [masterKey, nextMasterKey] : [masterKey]));
}
