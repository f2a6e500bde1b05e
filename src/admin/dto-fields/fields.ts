import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Length, Matches } from 'class-validator';
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

/**
 * Fields of several resources, each with its rule and example in one decorator:
 * https://docs.nestjs.com/custom-decorators#decorator-composition
 */

/** An id for examples. */
export const AN_ID = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';

const LONGEST_SECRET = 8192;
export const LONGEST_PROVIDER = 64;

/** An id, in a response or a request. */
export const ApiId = (): PropertyDecorator => ApiProperty({ format: 'uuid', example: AN_ID });

/** `example`: null if most resources have none. */
export const ApiIdOrNull = (example: string | null = AN_ID): PropertyDecorator =>
  ApiProperty({ type: String, format: 'uuid', nullable: true, example });

/** A time in the past. */
export const ApiMoment = (): PropertyDecorator =>
  ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' });

/** A time that most resources lack. */
export const ApiMomentOrNull = (): PropertyDecorator =>
  ApiProperty({ type: String, format: 'date-time', nullable: true, example: null });

/** A text that most resources lack. */
export const ApiTextOrNull = (): PropertyDecorator =>
  ApiProperty({ type: String, nullable: true, example: null });

/** A display name. */
export const TakesName = (example: string): PropertyDecorator =>
  applyDecorators(ApiProperty({ example, maxLength: LONGEST_NAME }), IsName());

/** The same, optional, for changes. */
export const MayTakeName = (example: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ example, maxLength: LONGEST_NAME }), IfGiven(), IsName());

/** Default: made from the name. */
export const MayTakeSlug = (example: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ example }), IfGiven(), IsSlug());

/** A user's note. Null removes it. */
export const MayTakeNote = (example = 'Billed to the research team'): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ type: String, nullable: true, example }), OrNull(), IsNote());

/** When it expires. Null: never. */
export const MayTakeExpiry = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      format: 'date-time',
      nullable: true,
      example: '2030-01-31T12:00:00Z',
    }),
    OrNull(),
    IsFutureDateTime(),
  );

/** Id or slug of its workspace. A workspace key may omit it: it has only one. */
export const MayTakeWorkspace = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ example: 'ws-default' }), IfGiven(), IsIdOrSlug());

/** Shared by all such fields in the document. */
const A_PROVIDER = { enum: [...providers.keys()].sort(), enumName: 'ProviderId', example: 'openai' };

/** A provider of docs/providers.md. */
export const TakesProvider = (): PropertyDecorator =>
  applyDecorators(ApiProperty(A_PROVIDER), Length(1, LONGEST_PROVIDER), IsString());

/** The same, optional, for changes. */
export const MayTakeProvider = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional(A_PROVIDER), IfGiven(), Length(1, LONGEST_PROVIDER), IsString());

const MOST_SCOPES = 200;
const SOME_SCOPES = { enum: Object.keys(SCOPES), enumName: 'Scope', isArray: true };
const IsListOfScopes = (): PropertyDecorator =>
  applyDecorators(IsArray(), ArrayMinSize(1), ArrayMaxSize(MOST_SCOPES), IsString({ each: true }));

/** Scopes of docs/scopes.md. The service checks which of them a credential can have. */
export const TakesScopes = (...example: Scope[]): PropertyDecorator =>
  applyDecorators(ApiProperty({ ...SOME_SCOPES, example }), IsListOfScopes());

/** The same, optional, for changes. */
export const MayTakeScopes = (...example: Scope[]): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ ...SOME_SCOPES, example }), IfGiven(), IsListOfScopes());

/** What happens to an attempt when its client disconnects. */
export const MayTakeDisconnectRule = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      enum: [...CLIENT_DISCONNECT_RULES, null],
      nullable: true,
      example: 'finish',
    }),
    OrNull(),
    IsIn(CLIENT_DISCONNECT_RULES),
  );

/** A provider's secret. It is sealed when saved and never shown again. */
export const MayTakeSecret = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ writeOnly: true, maxLength: LONGEST_SECRET, example: 'sk-proj-4711' }),
    IfGiven(),
    // The error names the first broken rule: the most specific one.
    Matches(/^[!-~](?:[ -~]*[!-~])?$/, { message: 'it must be printable ASCII without spaces around it' }),
    Length(1, LONGEST_SECRET),
    IsString(),
  );
