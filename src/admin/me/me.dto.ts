import { ApiProperty } from '@nestjs/swagger';
import type { Principal, PrincipalKind } from '../../auth/principal.js';
import type { Scope } from '../../auth/scopes.js';
import { ApiId, ApiIdOrNull, ApiObject } from '../dto-fields/fields.js';

const KINDS: readonly PrincipalKind[] = [
  'admin_key',
  'workspace_service_key',
  'workspace_user_key',
  'person',
  'workspace_token',
];

/** The caller and its current rights. */
export class MeDto {
  @ApiObject('caller')
  readonly object: 'caller';

  @ApiProperty({
    description: 'Kind of the credential that was sent.',
    enum: KINDS,
    example: 'workspace_service_key',
  })
  readonly kind: PrincipalKind;

  @ApiProperty({ description: 'Name of the key or of the user.', example: 'checkout-service' })
  readonly name: string;

  @ApiIdOrNull('Id of the API key. Null if none was used.')
  readonly api_key_id: string | null;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiIdOrNull(
    'Id of the workspace of the credential. Null if it reaches every workspace of the organization.',
  )
  readonly workspace_id: string | null;

  @ApiIdOrNull('Id of the user. Null if there is none.', null)
  readonly user_id: string | null;

  @ApiProperty({
    description: 'What the credential may do now. A key cannot do more than the user to whom it belongs.',
    type: [String],
    example: ['completions.write', 'logs.list'],
  })
  readonly scopes: readonly Scope[];

  static from(caller: Principal): MeDto {
    return {
      object: 'caller',
      kind: caller.kind,
      name: caller.name,
      api_key_id: caller.apiKeyId,
      organisation_id: caller.organizationId,
      workspace_id: caller.workspaceId,
      user_id: caller.userId,
      scopes: [...caller.scopes].sort(),
    };
  }
}
