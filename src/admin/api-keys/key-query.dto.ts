import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryChoice, QueryField, QueryFlag, QueryId, QueryText } from '../http/query-fields.js';

const KEY_TYPES = ['organisation-service', 'workspace-service', 'workspace-user'] as const;
const KEY_STATUSES = ['active', 'exhausted', 'expired'] as const;

/** As many as one page can show. */
const MOST_IDS = 100;
const UUID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const LastUseFlag = (): PropertyDecorator =>
  QueryFlag('True adds `last_used_at` to each key. Default: false.');

export class ReadKeyQuery extends QueryDto {
  @LastUseFlag()
  readonly include_last_used_at: boolean = false;
}

export class ListKeysQuery extends WorkspacePageQuery {
  @QueryId('Includes only keys of this user.', 'must be the id of a user')
  readonly user_id?: string;

  @QueryField(
    {
      type: String,
      pattern: `^${UUID}(,${UUID}){0,${MOST_IDS - 1}}$`,
      description: `Includes only the keys with these ids, at most ${MOST_IDS}. Commas separate them.`,
    },
    `must be 1 to ${MOST_IDS} ids of API keys, separated by commas`,
    (text) => {
      const ids = text.split(',');
      return ids.length <= MOST_IDS && ids.every(isUuid) ? ids : undefined;
    },
  )
  readonly ids?: readonly string[];

  @QueryChoice(KEY_TYPES, 'Includes only keys of this kind. Default: all.')
  readonly type?: ApiKeyType;

  @QueryText('Includes only keys whose name contains this text, in any case.')
  readonly name?: string;

  @QueryChoice(KEY_STATUSES, 'Includes only keys in this state. Default: all.')
  readonly status?: (typeof KEY_STATUSES)[number];

  @LastUseFlag()
  readonly include_last_used_at: boolean = false;
}
