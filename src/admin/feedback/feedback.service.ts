import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { Feedback } from './feedback.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import type { CreateFeedbackDto, UpdateFeedbackDto } from './feedback.dto.js';

/** Feedback on traces. The trace may be unknown: its requests may not be in the log yet. */
@Injectable()
export class FeedbackService {
  constructor(
    @InjectRepository(Feedback) private readonly feedback: Repository<Feedback>,
    private readonly audit: AuditTrail,
  ) {}

  /** All of them or none. Returns the ids in the given order. */
  async create(caller: Principal, entries: readonly CreateFeedbackDto[]): Promise<readonly string[]> {
    const { organizationId, workspaceId } = tenantOf(caller);
    const rows = entries.map(({ trace_id, value, weight, metadata }) => ({
      id: uuidV7(Date.now()),
      organizationId,
      workspaceId,
      apiKeyId: caller.apiKeyId,
      traceId: trace_id,
      value,
      weight: weight ?? 1,
      metadata: metadata ?? {},
    }));
    await this.feedback.insert(rows);
    this.audit.note({ targetId: rows.map(({ id }) => id).join(','), workspaceId });
    return rows.map(({ id }) => id);
  }

  /** Omitted fields stay unchanged. Another tenant's feedback is "not found". */
  async update(caller: Principal, id: string, { value, weight, metadata }: UpdateFeedbackDto): Promise<void> {
    const tenant = tenantOf(caller);
    const row = isUuid(id)
      ? await this.feedback.findOne({ where: { ...tenant, id }, lock: { mode: 'pessimistic_write' } })
      : null;
    if (!row) throw new AppError('not_found', { resource: 'feedback' });
    Object.assign(row, {
      value,
      ...(weight === undefined ? {} : { weight }),
      ...(metadata === undefined ? {} : { metadata }),
    });
    await this.feedback.save(row);
    this.audit.note({ targetId: row.id, workspaceId: row.workspaceId });
  }
}

/** Keys without a workspace cannot have the scope; this check is for the compiler, and in case the scopes change. */
function tenantOf({ organizationId, workspaceId }: Principal): {
  organizationId: string;
  workspaceId: string;
} {
  if (workspaceId === null) throw new AppError('forbidden', { detail: 'feedback needs a workspace key' });
  return { organizationId, workspaceId };
}
