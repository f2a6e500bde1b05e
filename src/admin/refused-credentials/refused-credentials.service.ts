import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { RefusalReason } from '../../auth/identity/recent-refusals.js';
import type { Page } from '../../common/http/page.js';
import { RefusedCredentialListDto } from './refused-credential.dto.js';
import { RefusedCredential } from './refused-credential.entity.js';

/** Reads what was refused. An organization has few rows (adapters/refused-credential-writer.ts), so each reading counts them. */
@Injectable()
export class RefusedCredentialsService {
  constructor(@InjectRepository(RefusedCredential) private readonly rows: Repository<RefusedCredential>) {}

  /** Latest first, with the number of rows and of their requests. */
  async list(
    organizationId: string,
    reason: RefusalReason | undefined,
    { skip, take }: Page,
  ): Promise<RefusedCredentialListDto> {
    const where = { organizationId, ...(reason && { reason }) };
    const [rows, total] = await this.rows.findAndCount({
      where,
      order: { lastAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
    const sums = await this.rows
      .createQueryBuilder('row')
      .select('sum(row.requests)', 'requests')
      .where(where)
      .getRawOne<{ readonly requests: string | null }>();
    return RefusedCredentialListDto.from(rows, { total, requests: Number(sums?.requests ?? 0) });
  }
}
