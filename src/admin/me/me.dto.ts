import { ApiProperty } from '@nestjs/swagger';
import type { Principal, PrincipalKind } from '../../auth/principal.js';
import type { Scope } from '../../auth/scopes.js';
import { ApiId, ApiIdOrNull } from '../dto-fields/fields.js';

const KINDS: readonly PrincipalKind[] = [
  'admin_key',
  'workspace_service_key',
  'workspace_user_key',
  'person',
  'workspace_token',
];

/** The caller and its current rights. */
export class MeDto {
  @ApiProperty({ enum: ['caller'] })
  readonly object = 'caller';

  @ApiProperty({ enum: KINDS, example: 'workspace_service_key' })
  readonly kind: PrincipalKind;

  @ApiProperty({ example: 'checkout-service' })
  readonly name: string;

  @ApiIdOrNull()
  readonly api_key_id: string | null;

  @ApiId()
  readonly organisation_id: string;

  /** Null for a caller that can access every workspace of the organization. */
  @ApiIdOrNull()
  readonly workspace_id: string | null;

  @ApiIdOrNull(null)
  readonly user_id: string | null;

  /** The granted scopes, limited to the current rights of the user on whose authority the credential acts. */
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
