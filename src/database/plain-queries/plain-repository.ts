import {
  EntityNotFoundError,
  type FindManyOptions,
  type FindOneOptions,
  type FindOptionsWhere,
  InsertResult,
  type ObjectLiteral,
  type QueryDeepPartialEntity,
  Repository,
} from 'typeorm';
import { totalToldBy } from '../../common/http/page.js';
import { plainConditions, plainFind, type PlainQuery, plainTable } from './plain-find.js';
import { plainInsert } from './plain-insert.js';
import { plainUpdate, remembered } from './plain-update.js';

/** Rows that were read under a lock, as the database has them until their transaction ends. */
const locked = new WeakMap<object, ObjectLiteral>();

type Where<T> = FindOptionsWhere<T> | FindOptionsWhere<T>[];

/**
 * TypeORM's repository, which reads rows of one table by comparing its columns, and adds one, without TypeORM's query builder. That
 * makes each query from the beginning, for joins that we do not have, and takes longer than the request needs for all the rest.
 * Whatever is not that simple goes the old way. Both give the same entities, by tests.
 */
export class PlainRepository<T extends ObjectLiteral> extends Repository<T> {
  override async find(options: FindManyOptions<T> = {}): Promise<T[]> {
    const query = this.planned(options);
    return query ? this.read(query) : super.find(options);
  }

  override findBy(where: Where<T>): Promise<T[]> {
    return this.find({ where });
  }

  override async findOne(options: FindOneOptions<T>): Promise<T | null> {
    const query = this.planned({ ...options, take: 1 });
    if (!query) return super.findOne(options);
    const [found = null] = await this.read(query);
    if (found && options.lock && !options.select) locked.set(found, remembered(found));
    return found;
  }

  override findOneBy(where: Where<T>): Promise<T | null> {
    return this.findOne({ where });
  }

  override async findOneByOrFail(where: Where<T>): Promise<T> {
    const found = await this.findOneBy(where);
    if (!found) throw new EntityNotFoundError(this.target, where);
    return found;
  }

  override async findAndCount(options: FindManyOptions<T> = {}): Promise<[T[], number]> {
    const { where, skip = 0, take = Infinity } = options;
    const query = this.planned(options);
    if (!query || where === undefined) return super.findAndCount(options);
    const rows = await this.read(query);
    return [rows, totalToldBy(rows.length, { skip, take }) ?? (await this.countBy(where))];
  }

  override async countBy(where: Where<T>): Promise<number> {
    const table = plainTable(this.metadata);
    const conditions = table && plainConditions(table, where);
    if (!table || !conditions) return super.countBy(where);
    const text = `SELECT count(*)::integer AS total FROM ${table.name} WHERE ${conditions.text}`;
    const [counted] = await this.ask<{ total: number }[]>({ text, values: conditions.values });
    return counted?.total ?? 0;
  }

  /**
   * Writes what differs from when the row was read and locked, by this repository; nobody can have changed it meanwhile, so
   * it is not read again. Answers the same entity, with its new time of change.
   */
  async saveLocked(row: T): Promise<T> {
    const before = locked.get(row);
    if (!before)
      throw new Error(`A row of ${this.metadata.tableName} is saved that was not read under a lock.`);
    const update = plainUpdate(this.manager.dataSource, this.metadata, row, before);
    if (!update) return row;
    const [[touched]] = await this.ask<[ObjectLiteral[]]>(update);
    const saved = Object.assign(row, touched);
    locked.set(saved, remembered(saved));
    return saved;
  }

  /** What the database adds of its own, such as the time of the making, is put into the row, as TypeORM does. */
  override async insert(row: QueryDeepPartialEntity<T> | QueryDeepPartialEntity<T>[]): Promise<InsertResult> {
    const isOne = !Array.isArray(row) && plainTable(this.metadata) !== null;
    const query = isOne ? plainInsert(this.manager.dataSource, this.metadata, row) : null;
    if (!query) return super.insert(row);
    const result = new InsertResult();
    result.raw = await this.ask<ObjectLiteral[]>(query);
    Object.assign(row, (result.raw as ObjectLiteral[])[0]);
    return result;
  }

  private planned(options: FindManyOptions<T>): PlainQuery | null {
    const table = plainTable(this.metadata);
    return table && plainFind(table, options);
  }

  private async read(query: PlainQuery): Promise<T[]> {
    const rows = await this.ask<ObjectLiteral[]>(query);
    return rows.map((row) => Object.assign(this.metadata.create() as T, row));
  }

  /** Of the runner itself where there is one: the manager and the source of the data would each wait for it in their turn. */
  private ask<Rows>({ text, values }: PlainQuery): Promise<Rows> {
    const asked = this.queryRunner ?? this.manager;
    return asked.query<Rows>(text, [...values]);
  }
}
