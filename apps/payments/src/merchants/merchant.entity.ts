import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('merchants')
export class Merchant {
  @PrimaryColumn('text', { name: 'id' })
  id!: string;

  @Column('text', { name: 'name' })
  name!: string;

  /** The key itself is stored nowhere. */
  @Column('text', { name: 'api_key_sha256' })
  apiKeySha256!: string;
}
