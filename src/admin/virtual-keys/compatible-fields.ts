import type { VirtualKey } from './virtual-key.entity.js';
import type { UpdateVirtualKeyDto } from './virtual-key.dto.js';

type Fields = Readonly<Record<string, unknown>>;

/** What the compatible API calls by names of Azure's, and its SDK by the same in snake_case. */
function compatibleFieldsOf(dto: UpdateVirtualKeyDto): Fields {
  const [deployment] = dto.deploymentConfig ?? dto.deployment_config ?? [];
  const named = [
    ['azure-api-version', dto.apiVersion ?? dto.api_version ?? deployment?.apiVersion],
    ['azure-resource-name', dto.resourceName ?? dto.resource_name],
    ['azure-deployment-id', dto.deploymentName ?? dto.deployment_name ?? deployment?.deploymentName],
  ] as const;
  return Object.fromEntries(named.filter(([, value]) => value != null));
}

/** The fields that a client says, under whichever names; undefined when it says none. */
export function fieldsOf(dto: UpdateVirtualKeyDto): Fields | undefined {
  const compatible = compatibleFieldsOf(dto);
  return dto.fields === undefined && Object.keys(compatible).length === 0
    ? undefined
    : { ...dto.fields, ...compatible };
}

/** What a change makes of them: `fields` takes the place of all, a compatible name of its own only. */
export function changedFields(key: VirtualKey, dto: UpdateVirtualKeyDto): { readonly fields?: Fields } {
  const fields = fieldsOf(dto);
  if (fields === undefined) return {};
  return { fields: dto.fields === undefined ? { ...key.fields, ...fields } : fields };
}
