import type { DataSource } from 'typeorm';

/** Columns, indexes, constraints, options, policies, rights, triggers and functions. NOT NULL is told by the columns. */
const SHAPE = `
  SELECT format('column %s.%s %s null:%s default:%s generated:%s storage:%s', attrelid::regclass, attname,
    format_type(atttypid, atttypmod), NOT attnotnull, pg_get_expr(adbin, adrelid), attgenerated, attstorage) AS line
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
  UNION ALL SELECT format('%s %s %s %s rls:%s %s', relkind, oid::regclass, relpersistence, reloptions, relrowsecurity, relacl)
  FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 'i'
  UNION ALL SELECT format('policy %s %s %s %s %s', tablename, policyname, cmd, qual, with_check) FROM pg_policies
  WHERE schemaname = 'public'
  UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
  ORDER BY 1`;

/** Everything that a migration can leave behind, a line each. Two databases with the same lines have the same schema. */
export async function shapeOf(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ line: string }[]>(SHAPE);
  return rows.map(({ line }) => line);
}
