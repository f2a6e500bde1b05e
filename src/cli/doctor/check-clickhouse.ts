import { CLICKHOUSE_TIMEOUTS } from '../../common/net/store-timeouts.js';
import type { ClickHouseSettings } from '../../common/settings/settings.js';
import { connectionOptions } from '../../request-log/analytics/clickhouse/connection-options.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';
import { isAtLeast } from './is-at-least.js';

/** The version the tests run on. Whether older ones deduplicate repeated inserts in their views was not tested. */
const TESTED_VERSION = [26, 7] as const;

export async function checkClickHouse(settings: ClickHouseSettings | null): Promise<DoctorFinding[]> {
  if (!settings) return [];
  const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client');
  const { cluster } = settings;
  const client = createClient({
    ...connectionOptions(settings, 1),
    request_timeout: CLICKHOUSE_TIMEOUTS.probing.commandMs,
    log: { level: ClickHouseLogLevel.OFF },
  });
  try {
    const answer = await client.query({
      query: `SELECT version() AS version, (SELECT count() FROM system.clusters WHERE cluster = {cluster:String}) AS servers`,
      query_params: { cluster: cluster ?? '' },
      format: 'JSONEachRow',
    });
    const [row] = await answer.json<{ version: string; servers: number | string }>();
    return [judgeClickHouse(row?.version ?? 'unknown', cluster, Number(row?.servers ?? 0))];
  } catch (error) {
    return [failed('ClickHouse', errorText(error), 'Check CLICKHOUSE_URL and that the server runs.')];
  } finally {
    await client.close();
  }
}

/** `servers`: the number of servers in the cluster of that name. */
export function judgeClickHouse(
  version: string,
  cluster: string | undefined,
  servers: number,
): DoctorFinding {
  if (cluster !== undefined && servers === 0)
    return failed('ClickHouse', `no cluster ${cluster}`, 'Check CLICKHOUSE_CLUSTER against system.clusters.');
  const findings =
    cluster === undefined
      ? `version ${version}`
      : `version ${version}, cluster ${cluster} of ${servers} servers`;
  return isAtLeast(version, TESTED_VERSION)
    ? ok('ClickHouse', findings)
    : warning('ClickHouse', findings, `Gatehouse is tested with ${TESTED_VERSION.join('.')}: upgrade it.`);
}
