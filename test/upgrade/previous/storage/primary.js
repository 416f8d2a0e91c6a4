export async function queryPrimary(dataSource, text, values) {
    const runner = dataSource.createQueryRunner('master');
    try {
        return (await runner.query(text, values));
    }
    finally {
        await runner.release();
    }
}
