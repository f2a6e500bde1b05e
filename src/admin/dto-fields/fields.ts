import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsString,
  Length,
  Matches,
  IsUUID,
} from 'class-validator';
import { type Scope, SCOPES } from '../../auth/scopes.js';
import { CLIENT_DISCONNECT_RULES } from '../../common/contracts/upstream-rules.js';
import {
  IfGiven,
  IsFutureDateTime,
  IsIdOrSlug,
  IsName,
  IsNote,
  IsSlug,
  LONGEST_NAME,
  OrNull,
} from '../../common/http/validators.js';
import { providers } from '../../providers/catalog/registry.js';
import { Audited } from './audited.js';

/**
 * Fields of several resources, each with its rule and example in one decorator:
 * https://docs.nestjs.com/custom-decorators#decorator-composition
 */

/** An id for examples. */
export const AN_ID = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';

const LONGEST_SECRET = 8192;
export const LONGEST_PROVIDER = 64;

/** An id, in a response or a request. Default: the id of the resource itself. */
export const ApiId = (
  description = 'Id, assigned when the resource was created. It never changes.',
): PropertyDecorator => ApiProperty({ description, format: 'uuid', example: AN_ID });

/** `example`: null if most resources have none. */
export const ApiIdOrNull = (description: string, example: string | null = AN_ID): PropertyDecorator =>
  ApiProperty({ description, type: String, format: 'uuid', nullable: true, example });

/** The constant in every response that says what it is. */
export const ApiObject = (type: string): PropertyDecorator =>
  ApiProperty({ description: 'Type of this object.', enum: [type] });

/** A time in the past. */
export const ApiMoment = (description: string): PropertyDecorator =>
  ApiProperty({ description, format: 'date-time', example: '2026-01-31T12:00:00.000Z' });

export const ApiCreatedAt = (): PropertyDecorator => ApiMoment('Time of creation, ISO 8601 in UTC.');

export const ApiLastUpdatedAt = (): PropertyDecorator =>
  ApiMoment('Time of the last change, ISO 8601 in UTC.');

/** A time that most resources lack. */
export const ApiMomentOrNull = (description: string): PropertyDecorator =>
  ApiProperty({ description, type: String, format: 'date-time', nullable: true, example: null });

/** A text that most resources lack. */
export const ApiTextOrNull = (description: string): PropertyDecorator =>
  ApiProperty({ description, type: String, nullable: true, example: null });

const ITS_NAME = 'Display name. It need not be unique.';

/** A display name. */
export const TakesName = (example: string, description = ITS_NAME): PropertyDecorator =>
  applyDecorators(ApiProperty({ description, example, maxLength: LONGEST_NAME }), IsName());

/** The same, optional, for changes. */
export const MayTakeName = (example: string, description = ITS_NAME): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ description, example, maxLength: LONGEST_NAME }),
    IfGiven(),
    IsName(),
  );

/** Unique in the organization. */
export const MayTakeSlug = (
  example: string,
  description = 'Short name for use in paths, headers and configs. It never changes. Default: made from the name.',
): PropertyDecorator => applyDecorators(ApiPropertyOptional({ description, example }), IfGiven(), IsSlug());

/** A user's note. */
export const MayTakeNote = (
  description = 'Free text. Null removes it. Default: none.',
  example = 'Billed to the research team',
): PropertyDecorator =>
  applyDecorators(
    Audited(),
    ApiPropertyOptional({ description, type: String, nullable: true, example }),
    OrNull(),
    IsNote(),
  );

/** When it expires. */
export const MayTakeExpiry = (): PropertyDecorator =>
  applyDecorators(
    Audited(),
    ApiPropertyOptional({
      description: 'Time at which the resource stops working, ISO 8601 in UTC. Null if it does not expire.',
      type: String,
      format: 'date-time',
      nullable: true,
      example: '2030-01-31T12:00:00Z',
    }),
    OrNull(),
    IsFutureDateTime(),
  );

/** The workspace of the resource. */
export const MayTakeWorkspace = (
  description = 'Id or slug of the workspace. A workspace key may leave it out: it has only one.',
): PropertyDecorator =>
  applyDecorators(
    Audited(),
    ApiPropertyOptional({ description, example: 'ws-default' }),
    IfGiven(),
    IsIdOrSlug(),
  );

/** The organization of the caller, which a request may repeat. */
export const MayTakeOrganization = (): PropertyDecorator =>
  applyDecorators(
    Audited(),
    ApiPropertyOptional({
      description: "Id of the organization. In a request it is optional and must be the caller's own.",
      format: 'uuid',
      example: AN_ID,
    }),
    IfGiven(),
    IsUUID(),
  );

/** Shared by all such fields in the document. */
const A_PROVIDER = {
  description: 'Id of the provider in the provider catalogue, such as `openai`.',
  enum: [...providers.keys()].sort(),
  enumName: 'ProviderId',
  example: 'openai',
};

/** A provider of docs/providers.md. */
export const TakesProvider = (): PropertyDecorator =>
  applyDecorators(Audited(), ApiProperty(A_PROVIDER), Length(1, LONGEST_PROVIDER), IsString());

/** The same, optional, for changes. */
export const MayTakeProvider = (): PropertyDecorator =>
  applyDecorators(
    Audited(),
    ApiPropertyOptional(A_PROVIDER),
    IfGiven(),
    Length(1, LONGEST_PROVIDER),
    IsString(),
  );

const MOST_SCOPES = 200;
const SOME_SCOPES = {
  description: 'Permissions, such as `logs.list`. Every operation names the scope that it requires.',
  enum: Object.keys(SCOPES),
  enumName: 'Scope',
  isArray: true,
};
const IsListOfScopes = (): PropertyDecorator =>
  applyDecorators(IsArray(), ArrayMinSize(1), ArrayMaxSize(MOST_SCOPES), IsString({ each: true }));

/** Scopes of docs/scopes.md. The service checks which of them a credential can have. */
export const TakesScopes = (...example: Scope[]): PropertyDecorator =>
  applyDecorators(Audited(), ApiProperty({ ...SOME_SCOPES, example }), IsListOfScopes());

/** The same, optional, for changes. */
export const MayTakeScopes = (...example: Scope[]): PropertyDecorator =>
  applyDecorators(Audited(), ApiPropertyOptional({ ...SOME_SCOPES, example }), IfGiven(), IsListOfScopes());

/** Sets the use of its limits back. */
export const MayResetUsage = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description:
        'True sets the use of all budgets and rate limits back to zero. Running requests still count for concurrency. Default: false.',
      example: true,
    }),
    IfGiven(),
    IsBoolean(),
  );

/** What happens to an attempt when its client disconnects. */
export const MayTakeDisconnectRule = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description:
        'What happens when the client disconnects before the end of the response: `cancel` ends the request and charges what arrived, as an estimate; `finish` reads the response to its end and charges what the provider reports. Null: the default of the workspace applies, else `cancel`.',
      type: String,
      enum: [...CLIENT_DISCONNECT_RULES, null],
      nullable: true,
      example: 'finish',
    }),
    OrNull(),
    IsIn(CLIENT_DISCONNECT_RULES),
  );

/** A provider's secret. */
export const MayTakeSecret = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description:
        'Credential of the provider account, such as an API key. It is stored encrypted and never shown again.',
      writeOnly: true,
      maxLength: LONGEST_SECRET,
      example: 'sk-proj-4711',
    }),
    IfGiven(),
    // The error names the first broken rule: the most specific one.
    Matches(/^[!-~](?:[ -~]*[!-~])?$/, { message: 'it must be printable ASCII without spaces around it' }),
    Length(1, LONGEST_SECRET),
    IsString(),
  );
