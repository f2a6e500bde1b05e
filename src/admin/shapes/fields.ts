import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsString, Length, Matches } from 'class-validator';
import { type Scope, SCOPES } from '../../auth/permissions/scopes.js';
import { CLIENT_DISCONNECT_RULES } from '../../common/contracts/client-disconnect.js';
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
import { providers } from '../../providers/registry.js';

/**
 * Fields that several resources have, each with its rule and its example in one decorator:
 * https://docs.nestjs.com/custom-decorators#decorator-composition
 */

/** An id for examples. */
export const AN_ID = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';

const LONGEST_SECRET = 8192;
export const LONGEST_PROVIDER = 64;

/** An id, in a response or a request. */
export const ApiId = (): PropertyDecorator => ApiProperty({ format: 'uuid', example: AN_ID });

/** `example` where null is what most of them have. */
export const ApiIdOrNull = (example: string | null = AN_ID): PropertyDecorator =>
  ApiProperty({ type: String, format: 'uuid', nullable: true, example });

/** A moment that was. */
export const ApiMoment = (): PropertyDecorator =>
  ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' });

/** A moment that most of them do not have. */
export const ApiMomentOrNull = (): PropertyDecorator =>
  ApiProperty({ type: String, format: 'date-time', nullable: true, example: null });

/** A text that most of them do not have. */
export const ApiTextOrNull = (): PropertyDecorator =>
  ApiProperty({ type: String, nullable: true, example: null });

/** A display name. */
export const TakesName = (example: string): PropertyDecorator =>
  applyDecorators(ApiProperty({ example, maxLength: LONGEST_NAME }), IsName());

/** The same in a change. */
export const MayTakeName = (example: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ example, maxLength: LONGEST_NAME }), IfGiven(), IsName());

/** Made from the name if it is left out. */
export const MayTakeSlug = (example: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ example }), IfGiven(), IsSlug());

/** A note of the user. Null removes it. */
export const MayTakeNote = (example = 'Billed to the research team'): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ type: String, nullable: true, example }), OrNull(), IsNote());

/** When it ends by itself. Null: never. */
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

/** Id or slug of the workspace that it goes to. A workspace key may leave it out: it has only one. */
export const MayTakeWorkspace = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ example: 'ws-default' }), IfGiven(), IsIdOrSlug());

/** Shared by the document of every field that takes one. */
const A_PROVIDER = { enum: [...providers.keys()].sort(), enumName: 'ProviderId', example: 'openai' };

/** A provider of docs/providers.md. */
export const TakesProvider = (): PropertyDecorator =>
  applyDecorators(ApiProperty(A_PROVIDER), Length(1, LONGEST_PROVIDER), IsString());

/** The same in a change. */
export const MayTakeProvider = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional(A_PROVIDER), IfGiven(), Length(1, LONGEST_PROVIDER), IsString());

const MOST_SCOPES = 200;
const SOME_SCOPES = { enum: Object.keys(SCOPES), enumName: 'Scope', isArray: true };
const IsListOfScopes = (): PropertyDecorator =>
  applyDecorators(IsArray(), ArrayMinSize(1), ArrayMaxSize(MOST_SCOPES), IsString({ each: true }));

/** Scopes of docs/scopes.md. Which of them a credential can carry is for the service to decide. */
export const TakesScopes = (...example: Scope[]): PropertyDecorator =>
  applyDecorators(ApiProperty({ ...SOME_SCOPES, example }), IsListOfScopes());

/** The same in a change. */
export const MayTakeScopes = (...example: Scope[]): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ ...SOME_SCOPES, example }), IfGiven(), IsListOfScopes());

/** What becomes of an attempt whose client leaves. */
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

/** A provider's own secret. It is sealed at once and never shown again. */
export const MayTakeSecret = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ writeOnly: true, maxLength: LONGEST_SECRET, example: 'sk-proj-4711' }),
    IfGiven(),
    // A refusal names the first broken rule: the most specific one.
    Matches(/^[!-~](?:[ -~]*[!-~])?$/, { message: 'it must be printable ASCII without spaces around it' }),
    Length(1, LONGEST_SECRET),
    IsString(),
  );
