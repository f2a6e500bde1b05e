import type { VirtualKey } from './virtual-key.entity.js';
import type { UpdateVirtualKeyDto } from './virtual-key.dto.js';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that the compatible API names after Azure's, and its SDK likewise in snake_case. */
function compatibleFieldsOf(dto: UpdateVirtualKeyDto): Fields {
  const [deployment] = dto.deploymentConfig ?? dto.deployment_config ?? [];
  const named = [
    ['azure-api-version', dto.apiVersion ?? dto.api_version ?? deployment?.apiVersion],
    ['azure-resource-name', dto.resourceName ?? dto.resource_name],
    ['azure-deployment-id', dto.deploymentName ?? dto.deployment_name ?? deployment?.deploymentName],
  ] as const;
  return Object.fromEntries(named.filter(([, value]) => value != null));
}

/** The fields of a request, under either kind of name; undefined without any. */
export function fieldsOf(dto: UpdateVirtualKeyDto): Fields | undefined {
  const compatible = compatibleFieldsOf(dto);
  return dto.fields === undefined && Object.keys(compatible).length === 0
    ? undefined
    : { ...dto.fields, ...compatible };
}

/** The fields after a change: `fields` replaces all of them, a compatible name only its own. */
export function changedFields(key: VirtualKey, dto: UpdateVirtualKeyDto): { readonly fields?: Fields } {
  const fields = fieldsOf(dto);
  if (fields === undefined) return {};
  return { fields: dto.fields === undefined ? { ...key.fields, ...fields } : fields };
}
