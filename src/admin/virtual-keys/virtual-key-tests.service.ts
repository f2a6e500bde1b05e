import { Injectable } from '@nestjs/common';
import type { Reach, Tenant } from '../../auth/tenant.js';
import { Secret } from '../../common/settings/secret.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { CredentialsService } from '../credentials/credentials.service.js';
import { SecretMappingsService } from '../secret-references/secret-mappings.service.js';
import { CredentialTester, type TestResult } from './credential-tester.service.js';
import type { TestCredentialDto } from './virtual-key-test.dto.js';
import { VirtualKeysService } from './virtual-keys.service.js';

/** Tests of stored and unsaved credentials. Each leaves an audit record, because the credential is sent. */
@Injectable()
export class VirtualKeyTests {
  constructor(
    private readonly virtualKeys: VirtualKeysService,
    private readonly credentials: CredentialsService,
    private readonly tester: CredentialTester,
    private readonly audit: AuditTrail,
    private readonly mappings: SecretMappingsService,
  ) {}

  /** Refuses credentials that could not be stored. */
  async ofUnsaved({ organizationId, workspaceId }: Tenant, dto: TestCredentialDto): Promise<TestResult> {
    const requested = {
      provider: dto.provider,
      customHost: dto.custom_host ?? null,
      fields: dto.fields ?? {},
    };
    const destination = this.credentials.read(requested, dto.key);
    const key = dto.key === undefined ? null : new Secret(dto.key);
    const result = await this.tester.test({ ...destination, organizationId, key });
    this.audit.note({ workspaceId, after: noted(result) });
    return result;
  }

  async ofStored(reach: Reach, slug: string): Promise<TestResult> {
    const row = await this.virtualKeys.get(reach, slug);
    const destination = this.credentials.stored(row);
    const mapped = await this.mappings.valuesOf(row);
    const result = await this.tester.test({
      ...destination,
      fields: { ...destination.fields, ...mapped.fields },
      organizationId: row.organizationId,
      key: mapped.key ?? (await this.credentials.open(row)),
    });
    this.audit.note({ targetId: row.id, workspaceId: row.workspaceId, after: noted(result) });
    return result;
  }
}

const noted = ({ outcome, status }: TestResult): object => ({ test: { outcome, status } });
