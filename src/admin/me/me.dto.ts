import { ApiProperty } from '@nestjs/swagger';
import type { Principal, PrincipalKind } from '../../auth/principal.js';
import type { Scope } from '../../auth/scopes.js';

const AN_ID = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';
const KINDS: readonly PrincipalKind[] = [
  'admin_key',
  'workspace_service_key',
  'workspace_user_key',
  'person',
  'workspace_token',
];

/** Who the caller is, and what it may do now. */
export class MeDto {
  @ApiProperty({ enum: ['caller'] })
  readonly object = 'caller';

  @ApiProperty({ enum: KINDS, example: 'workspace_service_key' })
  readonly kind: PrincipalKind;

  @ApiProperty({ example: 'checkout-service' })
  readonly name: string;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: AN_ID })
  readonly api_key_id: string | null;

  @ApiProperty({ format: 'uuid', example: AN_ID })
  readonly organisation_id: string;

  /** Null for who reaches every workspace of the organization. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: AN_ID })
  readonly workspace_id: string | null;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null })
  readonly user_id: string | null;

  /** What was given, as far as the person on whose authority the credential acts may do it now. */
  @ApiProperty({ type: [String], example: ['completions.write', 'logs.list'] })
  readonly scopes: readonly Scope[];

  static from(caller: Principal): MeDto {
    return Object.assign(new MeDto(), {
      kind: caller.kind,
      name: caller.name,
      api_key_id: caller.apiKeyId,
      organisation_id: caller.organizationId,
      workspace_id: caller.workspaceId,
      user_id: caller.userId,
      scopes: [...caller.scopes].sort(),
    });
  }
}
