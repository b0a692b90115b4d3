"""What nights and runs came to over time: taken in from their files, told, and outliving them."""
