import { AuditChain } from '../../admin/audit/audit-chain.js';
import { auditSealKey, KNOWN_SEAL_KEY, type KnownSealKey } from '../../admin/audit/audit-seal-key.js';
import { AuditSeal } from '../../admin/audit/audit-seal.js';
import type { UnitOfWork } from '../../database/unit-of-work.js';
import { type InstanceSecrets, masterKeysOf } from '../data-folder.js';

/** The audit trail as the administration writes it. */
export async function auditChainOf(unitOfWork: UnitOfWork, secrets: InstanceSecrets): Promise<AuditChain> {
  const [known] = await unitOfWork.manager.query<KnownSealKey[]>(KNOWN_SEAL_KEY);
  return new AuditChain(unitOfWork, new AuditSeal(auditSealKey(known, masterKeysOf(secrets))));
}
