import { MANAGER_TYPES, type ManagerType } from '../../external-credentials/secret-managers/manager-table.js';
import { PageQuery } from '../http/page-query.dto.js';
import { QueryChoice, QueryField } from '../http/query-fields.js';

const LONGEST_SEARCH = 255;

export class ListSecretReferencesQuery extends PageQuery {
  @QueryChoice(MANAGER_TYPES, 'Includes only references to this kind of secret manager. Default: all.')
  readonly manager_type?: ManagerType;

  @QueryField(
    {
      type: String,
      description: 'Includes only references with these tags: name:value, comma-separated.',
      example: 'team:search',
    },
    'must be name:value, comma-separated',
    tagsIn,
  )
  readonly tags?: Readonly<Record<string, string>>;

  @QueryField(
    {
      type: String,
      description: 'Includes only references whose name or slug contains this text.',
      minLength: 1,
      maxLength: LONGEST_SEARCH,
    },
    `must have 1 to ${LONGEST_SEARCH} characters`,
    (text) => (text !== '' && text.length <= LONGEST_SEARCH ? text : undefined),
  )
  readonly search?: string;
}

function tagsIn(text: string): Record<string, string> | undefined {
  const pairs = text.split(',').map((pair) => /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(pair));
  return pairs.every((pair) => pair !== null)
    ? Object.fromEntries(pairs.map((pair) => [pair[1] as string, pair[2] as string]))
    : undefined;
}
